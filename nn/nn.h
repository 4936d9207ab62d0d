#pragma once

/// Includes all modules.
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/averaged_model.h>
#include <halfgrad/nn/dropout.h>
#include <halfgrad/nn/early_stopping.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/nn/functional.h>
#include <halfgrad/nn/fused_mlp.h>
#include <halfgrad/nn/init.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/loss.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/nn/multihead_attention.h>
#include <halfgrad/nn/norm.h>
#include <halfgrad/nn/sequential.h>
#include <halfgrad/nn/standardize.h>
#include <halfgrad/nn/transformer.h>
#include <halfgrad/nn/transformer_layer.h>
